import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Contexts of the JDK's own server, which match by the beginning of a path. */
public class Server {
  public static void main(String[] arguments) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 64);
    for (String path : new String[] {"/", "/oauth/token", "/oauth/authorize"}) {
      byte[] body = (path.equals("/") ? "other" : "HANDLER=" + path).getBytes();
      server.createContext(path, exchange -> {
        exchange.getRequestBody().readAllBytes();
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(200, isHead ? -1 : body.length);
        if (!isHead) exchange.getResponseBody().write(body);
        exchange.close();
      });
    }
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.start();
  }
}
