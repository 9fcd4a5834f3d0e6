package conformance;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** The business service of all checks: a path belongs to one scenario by its first part. */
final class Service {
  private final Map<String, Scenario> scenarios = new ConcurrentHashMap<>();
  private final HttpServer server;

  Service() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool(Service::daemon));
    server.createContext("/", this::serve);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void add(String key, Scenario scenario) {
    scenarios.put(key, scenario);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  private void serve(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String[] parts = exchange.getRequestURI().getPath().substring(1).split("/", 2);
    Scenario scenario = scenarios.get(parts[0]);
    if (scenario == null || parts.length < 2) {
      answer(exchange, 404, "no such scenario");
      return;
    }
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.get(0)));
    try {
      scenario.serve(new Call(parts[1], query(exchange.getRequestURI().getRawQuery()), headers, body));
      answer(exchange, 200, "{\"dtm_result\":\"SUCCESS\"}");
    } catch (Call.Failure failure) {
      answer(exchange, 409, "{\"dtm_result\":\"FAILURE\",\"message\":\"" + failure.getMessage() + "\"}");
    } catch (Call.Ongoing ongoing) {
      answer(exchange, 425, "{\"dtm_result\":\"ONGOING\"}");
    } catch (Exception | AssertionError problem) {
      answer(exchange, 500, String.valueOf(problem));
    }
  }

  private static Map<String, String> query(String raw) {
    Map<String, String> query = new TreeMap<>();
    for (String pair : (raw == null ? "" : raw).split("&")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        query.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return query;
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
