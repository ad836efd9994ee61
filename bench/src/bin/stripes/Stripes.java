import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Java's ways to keep the order for each key, driven by `stripes`: `java Stripes.java MODE`.
 *
 * Each line of input is a load: the numbers of tasks, keys and workers, and whether the keys are skewed. The answer is `ok` and
 * the nanoseconds of the run. Keys, tasks and checks are the same as on the Rust sides.
 */
public final class Stripes {
    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] load = line.split(" ");
            try {
                int[] keys = keys(Integer.parseInt(load[0]), Integer.parseInt(load[1]), load[3].equals("1"));
                System.out.println("ok " + run(args[0], keys, Integer.parseInt(load[1]), Integer.parseInt(load[2])));
            } catch (Throwable thrown) {
                System.out.println("error " + thrown);
            }
        }
    }

    private static long run(String mode, int[] keys, int distinct, int workers) throws Exception {
        int[] numbers = new int[keys.length];
        int[] next = new int[distinct];
        for (int task = 0; task < keys.length; task++) {
            numbers[task] = next[keys[task]]++;
        }
        // The number of tasks of each key that have run. It needs no synchronisation if the order is kept.
        int[] ran = new int[distinct];
        AtomicInteger outOfOrder = new AtomicInteger();
        boolean forkJoin = mode.equals("draining-fjp");
        ExecutorService pool = forkJoin
                ? new ForkJoinPool(workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true)
                : Executors.newFixedThreadPool(workers);
        Function<Integer, Executor> newStripe = mode.equals("serial") ? key -> new Serial(pool) : key -> new Draining(pool);
        ConcurrentHashMap<Integer, Executor> stripes = new ConcurrentHashMap<>();
        long begin = System.nanoTime();
        for (int task = 0; task < keys.length; task++) {
            int key = keys[task], number = numbers[task];
            stripes.computeIfAbsent(key, newStripe).execute(() -> {
                if (ran[key]++ != number) {
                    outOfOrder.incrementAndGet();
                }
            });
        }
        // A fork/join pool refuses a stripe's next burst after its shutdown, so wait until the pool is quiet.
        while (forkJoin && !((ForkJoinPool) pool).awaitQuiescence(1, TimeUnit.HOURS)) {}
        if (mode.equals("serial")) {
            for (Executor stripe : stripes.values()) {
                ((Serial) stripe).awaitEmpty();
            }
        }
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.HOURS)) {
            throw new AssertionError("the pool does not end");
        }
        long wall = System.nanoTime() - begin;
        for (int key = 0; key < distinct; key++) {
            if (ran[key] != next[key]) {
                throw new AssertionError("of key " + key + " " + ran[key] + " of " + next[key] + " tasks ran");
            }
        }
        if (outOfOrder.get() > 0) {
            throw new AssertionError(outOfOrder + " tasks ran out of order");
        }
        return wall;
    }

    /** A lock-free queue and a count. The submitter that raises the count to one makes the executor drain the queue. */
    private static final class Draining implements Executor, Runnable {
        private final Executor below;
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private final AtomicInteger underWay = new AtomicInteger();

        Draining(Executor below) {
            this.below = below;
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
            if (underWay.getAndIncrement() == 0) {
                below.execute(this);
            }
        }

        @Override
        public void run() {
            int left = underWay.get();
            do {
                for (int done = 0; done < left; done++) {
                    tasks.poll().run();
                }
                left = underWay.addAndGet(-left);
            } while (left > 0);
        }
    }

    /** As in the documentation of Executor: each task submits the next task. */
    private static final class Serial implements Executor {
        private final Executor below;
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private Runnable active;

        Serial(Executor below) {
            this.below = below;
        }

        @Override
        public synchronized void execute(Runnable task) {
            tasks.add(() -> {
                try {
                    task.run();
                } finally {
                    scheduleNext();
                }
            });
            if (active == null) {
                scheduleNext();
            }
        }

        private synchronized void scheduleNext() {
            active = tasks.poll();
            if (active != null) {
                below.execute(active);
            } else {
                notifyAll();
            }
        }

        synchronized void awaitEmpty() throws InterruptedException {
            while (active != null) {
                wait();
            }
        }
    }

    // ----- keys -----

    private static int[] keys(int tasks, int distinct, boolean skewed) {
        double[] upTo = new double[skewed ? distinct : 0];
        double sum = 0;
        for (int rank = 0; rank < upTo.length; rank++) {
            sum += 1.0 / (rank + 1);
            upTo[rank] = sum;
        }
        int[] keys = new int[tasks];
        for (int task = 0; task < tasks; task++) {
            long drawn = mix(task) >>> 11;
            if (skewed) {
                int found = java.util.Arrays.binarySearch(upTo, drawn * 0x1.0p-53 * sum);
                keys[task] = Math.min(found < 0 ? -found - 1 : found, distinct - 1);
            } else {
                keys[task] = (int) (drawn % distinct);
            }
        }
        return keys;
    }

    private static long mix(long number) {
        long mixed = (number + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
