import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Benchmarks the locks of Redisson. The protocol is in the README of the directory of the peers. */
public class Bench {
    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            System.err.println(error);
            Runtime.getRuntime().halt(1); // a worker that is missing would only make it look slow
        });
        boolean shared = arguments[1].equals("shared");
        boolean distinct = arguments[1].equals("distinct");
        int workers = Integer.parseInt(arguments[2]);
        long criticalNs = 1000 * Long.parseLong(arguments[3]);
        RedissonClient client = connect(arguments[6], workers);
        LastHolder last = shared ? new LastHolder(arguments[4]) : null;
        String key = arguments[5];

        List<Worker> crowd = new ArrayList<>();
        for (int n = 0; n < workers; ++n) {
            String own = key + ":" + ProcessHandle.current().pid() + ":" + n;
            Kind lock = Kind.of(arguments[0], client, distinct ? own : key);
            crowd.add(new Worker(n, lock, last, criticalNs));
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            play(crowd, (long) (1e9 * Double.parseDouble(line)));
        }
        client.shutdown();
    }

    private static RedissonClient connect(String url, int workers) {
        Config config = new Config();
        config.useSingleServer().setAddress(url).setConnectionPoolSize(Math.max(64, workers));
        return Redisson.create(config);
    }

    private static void play(List<Worker> crowd, long lengthNs) throws InterruptedException {
        long end = System.nanoTime() + lengthNs;
        List<Thread> threads = new ArrayList<>();
        for (Worker worker : crowd) {
            Thread thread = new Thread(() -> worker.round(end));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
        print(crowd);
    }

    private static void print(List<Worker> crowd) {
        TreeMap<Integer, Integer> times = new TreeMap<>();
        for (Worker worker : crowd) worker.times.forEach((b, n) -> times.merge(b, n, Integer::sum));
        System.out.printf(
                "{\"cycles\": %d, \"handed\": %d, \"shares\": %s, \"max_us\": %.1f, \"times\": {%s}}%n",
                crowd.stream().mapToInt(worker -> worker.cycles).sum(),
                crowd.stream().mapToInt(worker -> worker.handed).sum(),
                crowd.stream().map(worker -> worker.cycles).toList(),
                crowd.stream().mapToDouble(worker -> worker.longestUs).max().orElse(0),
                times.entrySet().stream()
                        .map(each -> "\"" + each.getKey() + "\": " + each.getValue())
                        .collect(Collectors.joining(", ")));
        System.out.flush();
    }
}
