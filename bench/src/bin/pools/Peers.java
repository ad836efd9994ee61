import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The peers of java.util.concurrent, driven by `pools`: `java Peers.java MODE`.
 *
 * Each line of input is a load: the numbers of tasks, submitters and workers. The answer to each line is a line: `ok`, the
 * nanoseconds of the run, and the number of tasks that the submitters ran themselves; or `error` and a message. Each mode has
 * its own process, so that the compiler sees only one use of each method, as in a real program.
 *
 * The tasks, the times and the accounts are the same as on the Rust sides.
 */
public final class Peers {
    private static final int BOUND = 1024;

    /** Nanoseconds of the last run, and the tasks that its submitters ran themselves. */
    private static long wall;
    private static long inline;

    public static void main(String[] args) throws Exception {
        String mode = args[0];
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] load = line.split(" ");
            Throwable[] failed = {null};
            Plain runner = new Plain(() -> {
                try {
                    run(mode, Long.parseLong(load[0]), Integer.parseInt(load[1]), Integer.parseInt(load[2]));
                } catch (Throwable thrown) {
                    failed[0] = thrown;
                }
            });
            runner.start();
            runner.join();
            System.out.println(failed[0] == null ? "ok " + wall + " " + inline : "error " + failed[0]);
        }
    }

    private static void run(String mode, long tasks, int submitters, int workers) throws Exception {
        inline = 0;
        switch (mode) {
            case "fjp" -> execute(forkJoinPool(workers), tasks, submitters, false);
            case "fjp-unequal" -> execute(forkJoinPool(workers), tasks, submitters, true);
            case "tpe" -> execute(threadPool(workers, new LinkedBlockingQueue<>(), ABORT), tasks, submitters, false);
            case "tpe-unequal" -> execute(threadPool(workers, new LinkedBlockingQueue<>(), ABORT), tasks, submitters, true);
            case "tpe-block" -> execute(threadPool(workers, new ArrayBlockingQueue<>(BOUND), BLOCK), tasks, submitters, false);
            case "tpe-caller" -> execute(threadPool(workers, new ArrayBlockingQueue<>(BOUND), CALLER_RUNS), tasks, submitters, false);
            case "tpe-join" -> roundTrips(threadPool(workers, new LinkedBlockingQueue<>(), ABORT), tasks);
            case "fjp-join" -> roundTrips(forkJoinPool(workers), tasks);
            case "ecs" -> completionOrder(threadPool(workers, new LinkedBlockingQueue<>(), ABORT), tasks);
            case "threads" -> threads(Math.toIntExact(tasks));
            case "resident" -> resident(Math.toIntExact(tasks));
            default -> throw new IllegalArgumentException("no mode " + mode);
        }
    }

    // ----- the accounts: which tasks each thread has run -----

    /** Two numbers in the middle of a longer array, so that no two threads write to the same cache line. */
    private static final int RAN = 24, SUM = 25, LENGTH = 50;
    private static final List<long[]> ACCOUNTS = Collections.synchronizedList(new ArrayList<>());

    private static long[] newAccount() {
        long[] account = new long[LENGTH];
        ACCOUNTS.add(account);
        return account;
    }

    /** A thread with an account. All threads of this program are of this class. */
    private interface Counting {
        long[] account();
    }

    private static final class Plain extends Thread implements Counting {
        private final long[] account = newAccount();

        Plain(Runnable body) {
            super(body);
        }

        @Override
        public long[] account() {
            return account;
        }
    }

    private static final class Forked extends ForkJoinWorkerThread implements Counting {
        private final long[] account = newAccount();

        Forked(ForkJoinPool pool) {
            super(pool);
        }

        @Override
        public long[] account() {
            return account;
        }
    }

    private static long[] ownAccount() {
        return ((Counting) Thread.currentThread()).account();
    }

    private static void note(long number) {
        long[] own = ownAccount();
        own[RAN]++;
        own[SUM] += number;
    }

    private static void check(long ran, long sum, long tasks) {
        if (ran != tasks || sum != tasks * (tasks - 1) / 2) {
            throw new AssertionError(ran + " of " + tasks + " tasks ran, the sum of their numbers is " + sum);
        }
    }

    // ----- the pools -----

    private static final RejectedExecutionHandler ABORT = new ThreadPoolExecutor.AbortPolicy();
    private static final RejectedExecutionHandler CALLER_RUNS = new ThreadPoolExecutor.CallerRunsPolicy();
    /** The usual substitute for a policy that the library does not have. */
    private static final RejectedExecutionHandler BLOCK = (task, pool) -> {
        try {
            pool.getQueue().put(task);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    };

    private static ExecutorService threadPool(int workers, BlockingQueue<Runnable> queue, RejectedExecutionHandler policy) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(workers, workers, 0, TimeUnit.SECONDS, queue, Plain::new, policy);
        pool.prestartAllCoreThreads();
        return pool;
    }

    /** In asynchronous mode (first in, first out), because the tasks are not joined. */
    private static ExecutorService forkJoinPool(int workers) throws InterruptedException {
        ForkJoinPool pool = new ForkJoinPool(workers, Forked::new, null, true);
        CountDownLatch allThere = new CountDownLatch(workers);
        for (int worker = 0; worker < workers; worker++) {
            pool.execute(() -> {
                allThere.countDown();
                try {
                    allThere.await();
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            });
        }
        allThere.await();
        return pool;
    }

    private static void end(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.HOURS)) {
            throw new AssertionError("the pool does not end");
        }
    }

    // ----- the workloads -----

    private static void execute(ExecutorService pool, long tasks, int submitters, boolean unequal) throws Exception {
        for (long[] account : ACCOUNTS) {
            account[RAN] = account[SUM] = 0; // no task runs now
        }
        long begin = System.nanoTime();
        fromSubmitters(pool, tasks, submitters, unequal);
        end(pool);
        wall = System.nanoTime() - begin;
        long ran = 0, sum = 0;
        for (long[] account : ACCOUNTS) {
            ran += account[RAN];
            sum += account[SUM];
        }
        ACCOUNTS.clear();
        check(ran, sum, tasks);
        if (pool instanceof ThreadPoolExecutor counts && counts.getCompletedTaskCount() + inline != tasks) {
            throw new AssertionError("the pool counts " + counts.getCompletedTaskCount());
        }
    }

    private static void fromSubmitters(Executor pool, long tasks, int submitters, boolean unequal) throws Exception {
        if (submitters == 1) {
            submit(pool, 0, 1, tasks, unequal);
            inline = ownAccount()[RAN];
            return;
        }
        List<Plain> threads = new ArrayList<>();
        for (int first = 0; first < submitters; first++) {
            int mine = first;
            threads.add(new Plain(() -> submit(pool, mine, submitters, tasks, unequal)));
        }
        threads.forEach(Thread::start);
        for (Plain thread : threads) {
            thread.join();
            inline += thread.account()[RAN];
        }
    }

    private static void submit(Executor pool, long first, int step, long tasks, boolean unequal) {
        for (long next = first; next < tasks; next += step) {
            long number = next;
            if (unequal) {
                pool.execute(() -> unequal(number));
            } else {
                pool.execute(() -> note(number));
            }
        }
    }

    private static final long STEPS = 16, LONGER = 100;

    private static void unequal(long number) {
        boolean isLong = number * 0x9e37_79b9_7f4a_7c15L >>> 59 == 0;
        long x = number + 1;
        for (long step = isLong ? STEPS * LONGER : STEPS; step > 0; step--) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        ownAccount()[0] = x; // so that the compiler does not drop the computation
        note(number);
    }

    private static void roundTrips(ExecutorService pool, long tasks) throws Exception {
        long begin = System.nanoTime();
        long sum = 0;
        for (long next = 0; next < tasks; next++) {
            long number = next;
            sum += pool.submit(() -> number).get();
        }
        wall = System.nanoTime() - begin;
        end(pool);
        check(tasks, sum, tasks);
        ACCOUNTS.clear();
    }

    private static void completionOrder(ExecutorService pool, long tasks) throws Exception {
        ExecutorCompletionService<Long> service = new ExecutorCompletionService<>(pool);
        long begin = System.nanoTime();
        for (long next = 0; next < tasks; next++) {
            long number = next;
            service.submit(() -> number);
        }
        long sum = 0;
        for (long taken = 0; taken < tasks; taken++) {
            sum += service.take().get();
        }
        wall = System.nanoTime() - begin;
        end(pool);
        check(tasks, sum, tasks);
        ACCOUNTS.clear();
    }

    private static void threads(int threads) throws Exception {
        long begin = System.nanoTime();
        end(threadPool(threads, new LinkedBlockingQueue<>(), ABORT));
        wall = System.nanoTime() - begin;
        ACCOUNTS.clear();
    }

    /** Answers with bytes of memory for each idle thread, instead of nanoseconds. */
    private static void resident(int threads) throws Exception {
        long before = residentBytes();
        ExecutorService pool = threadPool(threads, new LinkedBlockingQueue<>(), ABORT);
        Thread.sleep(200); // the threads fall asleep
        wall = Math.max(0, residentBytes() - before) / threads;
        end(pool);
        ACCOUNTS.clear();
    }

    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("the system does not tell");
    }
}
