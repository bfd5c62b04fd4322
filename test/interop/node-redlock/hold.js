// Tries a lock with node-redlock: hold.js KEY TTL_MS URL... See the README beside it.
const Redis = require('ioredis');
const { default: Redlock, ExecutionError } = require('redlock');

const [key, ttl, ...urls] = process.argv.slice(2);
const clients = urls.map((url) => new Redis(url));
const redlock = new Redlock(clients, { retryCount: 0 });
redlock.on('error', () => {});

redlock.acquire([key], Number(ttl)).then(
  (lock) => {
    console.log('held');
    process.stdin.resume();
    process.stdin.on('end', () =>
      lock.release().then(() => {
        console.log('released');
        clients.forEach((client) => client.disconnect());
      }),
    );
  },
  (error) => {
    console.log(error instanceof ExecutionError ? 'denied' : `failed: ${error}`);
    clients.forEach((client) => client.disconnect());
  },
);
