// Tries a lock with node-redlock: hold.js KEY TTL_MS URL... See the README beside it.
const Redis = require('ioredis');
const { default: Redlock, ResourceLockedError } = require('redlock');

const [key, ttl, ...urls] = process.argv.slice(2);
const clients = urls.map((url) => new Redis(url));
const redlock = new Redlock(clients, { retryCount: 0 });
redlock.on('error', () => {});

// Denied is only what every vote against it says; a server that failed is a failure.
async function reason(error) {
  const attempts = await Promise.all(error.attempts ?? []);
  const against = attempts.flatMap((attempt) => [...attempt.votesAgainst.values()]);
  const locked = against.every((vote) => vote instanceof ResourceLockedError);
  return against.length > 0 && locked ? 'denied' : `failed: ${error} ${against}`;
}

async function main() {
  let lock;
  try {
    lock = await redlock.acquire([key], Number(ttl));
  } catch (error) {
    return reason(error);
  }
  console.log('held');
  for await (const _ of process.stdin);
  await lock.release();
  return 'released';
}

main()
  .catch((error) => `failed: ${error}`)
  .then((word) => {
    console.log(word);
    clients.forEach((client) => client.disconnect());
  });
