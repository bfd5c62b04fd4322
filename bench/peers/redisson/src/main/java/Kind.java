import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** One worker's way to a lock of some kind. Used by one thread at a time. */
interface Kind {
    void lock();

    void unlock();

    /** What the variant of the command line means at that key. */
    static Kind of(String variant, RedissonClient client, String key) {
        String[] words = variant.split(":");
        return switch (words[0]) {
            case "default" -> held(client.getLock(key));
            case "reading" -> held(client.getReadWriteLock(key).readLock());
            case "writing" -> held(client.getReadWriteLock(key).writeLock());
            case "two-keys" -> held(client.getMultiLock(
                    client.getLock(key), client.getLock(key + ":other")));
            case "semaphore" -> new Permit(
                    client.getPermitExpirableSemaphore(key), Integer.parseInt(words[1]));
            case "latch" -> new Count(client.getCountDownLatch(key));
            default -> throw new IllegalArgumentException("there is no variant " + variant);
        };
    }

    private static Kind held(RLock lock) {
        return new Kind() {
            @Override
            public void lock() {
                lock.lock(); // without a lease time: the watchdog renews it, from 30 s
            }

            @Override
            public void unlock() {
                lock.unlock();
            }
        };
    }
}

/** A permit has no watchdog: it is over after 30 s. */
class Permit implements Kind {
    private final RPermitExpirableSemaphore semaphore;
    private String id;

    Permit(RPermitExpirableSemaphore semaphore, int permits) {
        this.semaphore = semaphore;
        semaphore.trySetPermits(permits);
    }

    @Override
    public void lock() {
        try {
            id = semaphore.acquire(30, TimeUnit.SECONDS);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error); // nobody interrupts
        }
    }

    @Override
    public void unlock() {
        semaphore.release(id);
    }
}

/** Nobody holds a latch: a cycle is to count down once. It is too large to open in a run. */
class Count implements Kind {
    private final RCountDownLatch latch;

    Count(RCountDownLatch latch) {
        this.latch = latch;
        latch.trySetCount(1_000_000_000);
    }

    @Override
    public void lock() {
        latch.countDown();
    }

    @Override
    public void unlock() {}
}
