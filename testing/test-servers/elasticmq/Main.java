import org.elasticmq.NodeAddress;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;

/** An SQS server with queues in memory, on the port that is its argument. */
public class Main {
  private static final String HOST = "127.0.0.1";

  public static void main(String[] args) throws InterruptedException {
    int port = Integer.parseInt(args[0]);
    SQSRestServerBuilder.withInterface(HOST)
        .withPort(port)
        .withServerAddress(new NodeAddress("http", HOST, port, ""))
        .start()
        .waitUntilStarted();
    Thread.currentThread().join();
  }
}
