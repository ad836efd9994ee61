import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A peer for the row overload: the JDK's own web server, on a pool with a bounded queue that refuses when it is full. The
 * arguments are the number of threads and the places in the queue. Each answer takes 50 ms.
 */
class Overload {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        var queue = new ArrayBlockingQueue<Runnable>(Integer.parseInt(args[1]));
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        server.setExecutor(new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, queue));
        server.createContext("/block", exchange -> {
            try (exchange) {
                Thread.sleep(50);
                byte[] body = "done\n".getBytes();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }
}
