import java.util.HashMap;
import java.util.Map;

/** One thread's share of a round. */
class Worker {
    int cycles;
    int handed;
    double longestUs;
    Map<Integer, Integer> times;

    private final int number;
    private final Kind lock;
    private final LastHolder last; // null: the key is our own
    private final long criticalNs;

    Worker(int number, Kind lock, LastHolder last, long criticalNs) {
        this.number = number;
        this.lock = lock;
        this.last = last;
        this.criticalNs = criticalNs;
    }

    void round(long end) {
        cycles = 0;
        handed = 0;
        longestUs = 0;
        times = new HashMap<>();
        while (System.nanoTime() < end) cycle(end);
    }

    private void cycle(long end) {
        long begin = System.nanoTime();
        lock.lock();
        long taken = System.nanoTime();
        boolean other = last != null && last.takeOver(number);
        while (System.nanoTime() - taken < criticalNs) Thread.onSpinWait();
        lock.unlock();
        long done = System.nanoTime();
        if (done <= end) {
            ++cycles;
            handed += other ? 1 : 0;
        }
        record((last != null ? taken : done) - begin);
    }

    private void record(long ns) {
        double us = Math.max(ns / 1e3, 1);
        longestUs = Math.max(longestUs, us);
        times.merge((int) (32 * Math.log(us) / Math.log(2)), 1, Integer::sum);
    }
}
