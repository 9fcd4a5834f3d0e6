package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import pub.dtm.client.DtmClient;

/** What all checks share. */
final class World {
  final DtmClient client;
  final Bank bank;
  final Service service;
  private final URI dtm;
  private final HttpClient http = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();

  World(URI dtm, URI mysql) throws Exception {
    this.dtm = dtm;
    // The client adds the path /api/dtmsvr by itself.
    client = new DtmClient(dtm.getAuthority());
    bank = new Bank(mysql);
    service = new Service();
  }

  Scenario newScenario() {
    return new Scenario(this);
  }

  JsonNode query(String gid) throws Exception {
    String target = dtm + "/query?gid=" + URLEncoder.encode(gid, StandardCharsets.UTF_8);
    HttpRequest request = HttpRequest.newBuilder(URI.create(target)).build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    Expect.equal("status of query", answer.statusCode(), 200);
    return json.readTree(answer.body());
  }
}
