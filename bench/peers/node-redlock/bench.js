// Benchmarks node-redlock. The protocol is in the README of the directory above.
const fs = require('fs');
const readline = require('readline');
const Redis = require('ioredis');
const { default: Redlock } = require('redlock');

const [variant, work, workers, criticalUs, last, key, ...urls] = process.argv.slice(2);
const critical = Number(criticalUs) / 1000; // performance.now() counts milliseconds
const lastHolder = work === 'shared' ? fs.openSync(last, 'r+') : -1;
const ttl = 30000;
const polling = variant === 'poll' ? { retryDelay: 5, retryJitter: 2 } : {};
const clients = urls.map((url) => new Redis(url));
const redlock = new Redlock(clients, { retryCount: -1, ...polling });
redlock.on('error', () => {}); // one for each attempt that was denied

class Worker {
  constructor(number) {
    this.id = Buffer.alloc(8);
    this.id.writeBigUInt64LE(BigInt(process.pid) * 65536n + BigInt(number));
    this.name = work === 'shared' ? key : `${key}:${process.pid}:${number}`;
  }

  async round(end) {
    Object.assign(this, { cycles: 0, handed: 0, longest: 0, times: {} });
    while (performance.now() < end) await this.cycle(end);
  }

  async cycle(end) {
    const begin = performance.now();
    let taken;
    let other = false;
    await redlock.using([this.name], ttl, async () => {
      taken = performance.now();
      if (work === 'shared') other = this.takeOver();
      while (performance.now() < taken + critical);
    });
    const done = performance.now();
    if (done <= end) {
      this.cycles += 1;
      this.handed += other ? 1 : 0;
    }
    this.record(1000 * ((work === 'shared' ? taken : done) - begin));
  }

  // Whether the lock was another's before.
  takeOver() {
    const before = Buffer.alloc(8);
    fs.readSync(lastHolder, before, 0, 8, 0);
    if (before.equals(this.id)) return false;
    fs.writeSync(lastHolder, this.id, 0, 8, 0);
    return true;
  }

  record(us) {
    const bucket = Math.floor(32 * Math.log2(Math.max(us, 1)));
    this.longest = Math.max(this.longest, us);
    this.times[bucket] = (this.times[bucket] ?? 0) + 1;
  }
}

async function play(crowd, seconds) {
  const end = performance.now() + 1000 * seconds;
  await Promise.all(crowd.map((worker) => worker.round(end)));
  const times = {};
  for (const worker of crowd) {
    for (const [bucket, count] of Object.entries(worker.times)) {
      times[bucket] = (times[bucket] ?? 0) + count;
    }
  }
  const shares = crowd.map((worker) => worker.cycles);
  const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
  return {
    cycles: sum(shares),
    handed: sum(crowd.map((worker) => worker.handed)),
    shares,
    max_us: Math.max(...crowd.map((worker) => worker.longest)),
    times,
  };
}

async function main() {
  const everybody = Array.from({ length: Number(workers) }, (_, number) => new Worker(number));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await play(everybody, Number(line))));
  }
  clients.forEach((client) => client.disconnect());
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
