import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Java's scheduled pool, driven by `timers`: `java Timers.java stpe`.
 *
 * Each line of input is a row and a number of tasks. The answer to each line is `ok` and the nanoseconds of each figure. Delays
 * and checks are the same as on the Rust sides.
 */
public final class Timers {
    private static final long LEAD = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long APART = TimeUnit.MICROSECONDS.toNanos(500);

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] load = line.split(" ");
            ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(2);
            pool.setRemoveOnCancelPolicy(true);
            try {
                System.out.println("ok " + run(pool, load[0], Integer.parseInt(load[1])));
            } catch (Throwable thrown) {
                System.out.println("error " + thrown);
            }
            pool.shutdownNow();
            if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
                throw new AssertionError("the pool does not end");
            }
        }
    }

    private static String run(ScheduledThreadPoolExecutor pool, String row, int tasks) throws Exception {
        switch (row) {
            case "insert": {
                long begin = System.nanoTime();
                for (int task = 0; task < tasks; task++) {
                    pool.schedule(() -> {}, far(task), TimeUnit.NANOSECONDS);
                }
                long took = System.nanoTime() - begin;
                check(pool, tasks);
                return "" + took;
            }
            case "cancel": {
                ScheduledFuture<?>[] futures = new ScheduledFuture<?>[tasks];
                for (int task = 0; task < tasks; task++) {
                    futures[task] = pool.schedule(() -> {}, far(task), TimeUnit.NANOSECONDS);
                }
                long begin = System.nanoTime();
                for (int task = 0; task < tasks; task++) {
                    futures[(int) (task * 77_777L % tasks)].cancel(false);
                }
                long took = System.nanoTime() - begin;
                check(pool, 0);
                return "" + took;
            }
            case "lateness": {
                long[] late = new long[tasks];
                CountDownLatch ran = new CountDownLatch(tasks);
                long start = System.nanoTime() + LEAD;
                for (int n = 0; n < tasks; n++) {
                    int task = n;
                    long due = start + APART * task;
                    pool.schedule(() -> {
                        late[task] = System.nanoTime() - due;
                        ran.countDown();
                    }, due - System.nanoTime(), TimeUnit.NANOSECONDS);
                }
                await(ran);
                Arrays.sort(late);
                if (late[0] < 0) {
                    throw new AssertionError("a task ran before its time");
                }
                return late[tasks / 2] + " " + late[tasks * 99 / 100];
            }
            default: { // burst
                CountDownLatch ran = new CountDownLatch(tasks);
                long start = System.nanoTime() + LEAD;
                for (int n = 0; n < tasks; n++) {
                    pool.schedule(ran::countDown, start - System.nanoTime(), TimeUnit.NANOSECONDS);
                }
                await(ran);
                return "" + (System.nanoTime() - start);
            }
        }
    }

    private static void await(CountDownLatch ran) throws Exception {
        if (!ran.await(1, TimeUnit.MINUTES)) {
            throw new AssertionError("tasks are lost");
        }
    }

    private static void check(ScheduledThreadPoolExecutor pool, int tasks) {
        if (pool.getQueue().size() != tasks) {
            throw new AssertionError(pool.getQueue().size() + " tasks wait, and not " + tasks);
        }
    }

    /** A delay between 10 and 20 minutes. */
    private static long far(int task) {
        return 600_000_000_000L + Long.remainderUnsigned(mix(task), 600_000_000_000L);
    }

    private static long mix(long number) {
        long mixed = (number + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
