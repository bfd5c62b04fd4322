"""The commands that a shell script starts, as far as its text tells.

Seen is the first word of every simple command, also in substitutions and after words like `exec`.
Not seen are commands in variables, in quoted text and here-documents, and the last one of a
subshell of several lines whose ")" stands beside it.
"""
import re
import subprocess

HERE_DOCUMENT = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*\n)(?:.*?\n)??[ \t]*\2(?=\n|$)", re.DOTALL)
CASE_PATTERN = re.compile(r"(?:(?<=\n)|(?<=;;)|(?<= in))[^\n()]*\)")
REDIRECTION = re.compile(r"\d*(?:&>|<<<|[<>]{1,2})[&|]?[ \t]*[^\s;|&()<>]*")
TOKEN = re.compile(r"[;\n|&()]|[^\s;|&()]+")
NAME = re.compile(r"[A-Za-z_][\w.+-]*")
ASSIGNMENT = re.compile(r"\w+(?:\[[^]]*\])?\+?=")
FUNCTION = re.compile(r"^[ \t]*([\w-]+)[ \t]*\(\)", re.MULTILINE)

COMMAND_FOLLOWS = {"if", "then", "elif", "else", "while", "until", "do", "!", "time",
                   "exec", "env", "command", "nice"}
CLOSING = {'"': '"', "$((": "))", "((": "))", "${": "}", "=(": ")", "[[ ": " ]]"}
HIDDEN = "\x01"  # stands for text that is no code


def own_words():
    """What the shell itself has: builtins and keywords."""
    said = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True)
    return set(said.stdout.split())


def functions(text):
    return set(FUNCTION.findall(text))


def commands(text):
    """The names that commands of `text` begin with."""
    text = HERE_DOCUMENT.sub(lambda here: HIDDEN + here.group(3), text)
    reader = _Reader(text)
    reader.code(None)
    for code in reader.found:
        yield from _first_words(code)


class _Reader:
    """Takes a script apart: its code without quoted text, and that of every substitution in it."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.found = []

    def next_is(self, *words):
        return next((word for word in words if self.text.startswith(word, self.at)), None)

    def code(self, closing):
        """Up to `closing`; None: to the end."""
        kept, depth = [], 0
        while self.at < len(self.text):
            here = self.text[self.at]
            if here == closing and depth == 0:
                break
            if here == "#" and (not kept or kept[-1][-1] in " \t\n;|&("):
                self.at = (self.text + "\n").index("\n", self.at)
            elif not self.aside(kept):
                depth += {"(": 1, ")": -1}.get(here, 0) if closing else 0
                kept.append(here)
                self.at += 1
        self.at += 1
        self.found.append("".join(kept))

    def aside(self, kept):
        """Goes past what is no code here, and puts a sign in its place; false if code is here."""
        begin = self.next_is(
            "\\\n", "\\", "'", '"', "$((", "((", "$(", "<(", ">(", "`", "${", "=(", "[[ ")
        if begin is None:
            return False
        self.at += len(begin)
        if begin == "\\\n":
            kept.append(" ")
            return True
        kept.append("=" + HIDDEN if begin == "=(" else HIDDEN)
        if begin == "\\":
            self.at += 1
        elif begin == "'":
            self.at = self.text.index("'", self.at) + 1
        elif begin in ("$(", "<(", ">("):
            self.code(")")
        elif begin == "`":
            self.code("`")
        else:
            self.text_until(CLOSING[begin])
        return True

    def text_until(self, closing):
        """Text, in which only substitutions are code."""
        while self.at < len(self.text) and not self.next_is(closing):
            if self.text[self.at] == "\\":
                self.at += 2
            elif self.next_is("$((", "${", "$(", "`") or (closing != '"' and self.next_is('"', "'")):
                self.aside([])
            else:
                self.at += 1
        self.at += len(closing)


def _first_words(code):
    code = REDIRECTION.sub(" ", CASE_PATTERN.sub("", code))
    expected = True
    for token in TOKEN.findall(code):
        if token in ";\n|&(){}":
            expected = True
        elif expected and not ASSIGNMENT.match(token) and not token.startswith("-"):
            expected = token in COMMAND_FOLLOWS
            if NAME.fullmatch(token):
                yield token
