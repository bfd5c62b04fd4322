// Benchmarks the locks of Go: bench LIBRARY, then what the README of the directory above says.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"
)

const ttl = 30 * time.Second

// A lock is taken by lock, which returns what gives it back.
type lock interface {
	lock() (unlock func(), err error)
}

// A library makes the lock of a key at the servers. workers: how many will use it at once.
type library func(urls []string, workers int, poll bool) (func(key string) lock, error)

var libraries = map[string]library{"redsync": openRedsync, "rueidislock": openRueidislock}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func main() {
	name, variant, work, key := os.Args[1], os.Args[2], os.Args[3], os.Args[7]
	workers, criticalUs := number(os.Args[4]), number(os.Args[5])
	newLock, err := libraries[name](os.Args[8:], workers, variant == "poll")
	must(err)
	game := crowd{shared: work == "shared", critical: time.Duration(criticalUs) * time.Microsecond}
	if game.shared {
		game.last, err = os.OpenFile(os.Args[6], os.O_RDWR, 0)
		must(err)
	}
	for n := range workers {
		own := fmt.Sprintf("%s:%d:%d", key, os.Getpid(), n)
		if game.shared {
			own = key
		}
		game.locks = append(game.locks, newLock(own))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		seconds, err := strconv.ParseFloat(lines.Text(), 64)
		must(err)
		must(json.NewEncoder(os.Stdout).Encode(game.play(time.Duration(seconds * 1e9))))
	}
}
