import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;

/**
 * The peers of java.util.concurrent, driven by `forkjoin`: `java Forks.java MODE`.
 *
 * Each line of input is a number of workers. The answer to each line is a line: `ok` and the nanoseconds of the computation,
 * or `error` and a message. Each mode has its own process, so that the compiler sees only one use of each method.
 */
public final class Forks {
    private static final int N = 32;
    private static final int LEVELS = 24;
    private static final int NUMBERS = 10_000_000;
    private static final int LEAF = 1 << 13;

    public static void main(String[] args) throws Exception {
        String mode = args[0];
        Node tree = mode.equals("tree") ? new Node(LEVELS) : null;
        int[] unsorted = mode.endsWith("sort") ? numbers() : null;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            ForkJoinPool pool = new ForkJoinPool(Integer.parseInt(line));
            try {
                System.out.println("ok " + run(mode, pool, tree, unsorted));
            } catch (Throwable thrown) {
                System.out.println("error " + thrown);
            }
            pool.shutdown();
        }
    }

    private static long run(String mode, ForkJoinPool pool, Node tree, int[] unsorted) throws Exception {
        switch (mode) {
            case "fibonacci":
                return timed(() -> pool.invoke(new Fibonacci(N)), 2178309L);
            case "tree":
                return timed(() -> pool.invoke(new Sum(tree)), (1L << (LEVELS + 1)) - LEVELS - 2);
            case "parallel-sort":
                int[] all = unsorted.clone();
                // The sort runs in this pool, not in the common pool, so that it has as many workers as the other sides.
                long nanos = timed(() -> { pool.submit(() -> Arrays.parallelSort(all)).get(); return 0L; }, 0);
                check(all);
                return nanos;
            case "merge-sort":
                int[] numbers = unsorted.clone();
                int[] scratch = unsorted.clone();
                long took = timed(() -> { pool.invoke(new MergeSort(numbers, scratch, 0, NUMBERS)); return 0L; }, 0);
                check(numbers);
                return took;
            default:
                throw new IllegalArgumentException("no mode " + mode);
        }
    }

    private static long timed(Callable<Long> computation, long expected) throws Exception {
        long begin = System.nanoTime();
        long result = computation.call();
        long took = System.nanoTime() - begin;
        if (result != expected) {
            throw new IllegalStateException(result + " is the wrong result");
        }
        return took;
    }

    private static void check(int[] sorted) {
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i - 1] > sorted[i]) {
                throw new IllegalStateException("it is not sorted");
            }
        }
    }

    private static int[] numbers() {
        int[] numbers = new int[NUMBERS];
        long x = 0x2545f4914f6cdd1dL;
        for (int i = 0; i < NUMBERS; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            numbers[i] = (int) (x >>> 32);
        }
        return numbers;
    }

    private static final class Fibonacci extends RecursiveTask<Long> {
        private final int n;

        Fibonacci(int n) {
            this.n = n;
        }

        @Override
        protected Long compute() {
            if (n < 2) {
                return (long) n;
            }
            Fibonacci second = new Fibonacci(n - 2);
            second.fork();
            return new Fibonacci(n - 1).compute() + second.join();
        }
    }

    private static final class Node {
        final int number;
        final Node left;
        final Node right;

        Node(int levels) {
            left = levels > 1 ? new Node(levels - 1) : null;
            right = levels > 1 ? new Node(levels - 1) : null;
            number = levels;
        }
    }

    private static final class Sum extends RecursiveTask<Long> {
        private final Node node;

        Sum(Node node) {
            this.node = node;
        }

        @Override
        protected Long compute() {
            if (node.left == null) {
                return (long) node.number;
            }
            Sum left = new Sum(node.left);
            left.fork();
            return node.number + new Sum(node.right).compute() + left.join();
        }
    }

    private static final class MergeSort extends RecursiveAction {
        private final int[] all;
        private final int[] scratch;
        private final int from;
        private final int to;

        MergeSort(int[] all, int[] scratch, int from, int to) {
            this.all = all;
            this.scratch = scratch;
            this.from = from;
            this.to = to;
        }

        @Override
        protected void compute() {
            if (to - from <= LEAF) {
                Arrays.sort(all, from, to);
                return;
            }
            int middle = (from + to) >>> 1;
            invokeAll(new MergeSort(all, scratch, from, middle), new MergeSort(all, scratch, middle, to));
            System.arraycopy(all, from, scratch, from, to - from);
            int l = from;
            int r = middle;
            for (int place = from; place < to; place++) {
                if (r == to || l < middle && scratch[l] <= scratch[r]) {
                    all[place] = scratch[l++];
                } else {
                    all[place] = scratch[r++];
                }
            }
        }
    }
}
