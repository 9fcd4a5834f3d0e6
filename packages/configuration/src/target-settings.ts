import { DEFAULT_CALLER_LIMITS } from '@counterstep/branch-http'
import { parseAllowedOrigins, parseServices } from '@counterstep/branch-http/targets'
import { servicePemFiles } from './service-pem-files.ts'
import { oneOf, orUnset, type Parsed, setting, switchSetting, wholeNumber } from './setting.ts'

const HOUR_MS = 3_600_000
const MIB = 1024 * 1024

/** Where branches may be called, and within which bounds. */
export const TARGET_SETTINGS = {
  services: setting(
    'services',
    '',
    'NAME=ORIGIN[/BASE],…: named services; a branch URL may then be NAME:/PATH',
    parseServices,
  ),
  allowTargets: setting(
    'allow-targets',
    '',
    'ORIGIN,…: where else branches may be; https://*.example.internal stands for one label, ' +
      'http://10.0.0.0/8:* for the addresses of a private network at every port',
    parseAllowedOrigins,
  ),
  allowAnyTarget: switchSetting(
    'allow-any-target',
    'INSECURE: call whatever URL a request names; link-local and metadata addresses stay refused',
  ),
  serviceCa: setting(
    'service-ca',
    '',
    'NAME=FILE,…: authorities (PEM) that a named service is trusted by, in place of the usual ones',
    servicePemFiles,
  ),
  serviceCert: setting(
    'service-cert',
    '',
    'NAME=FILE,…: client certificate (PEM) that is shown to a named service',
    servicePemFiles,
  ),
  serviceKey: setting('service-key', '', 'NAME=FILE,…: its private key (PEM)', servicePemFiles),
  egressProxy: setting(
    'egress-proxy',
    '',
    'http(s)://[USER:PASSWORD@]HOST:PORT: proxy that makes a tunnel for each connection to a branch',
    orUnset(proxyUrl),
  ),
  answerExcerpts: setting(
    'answer-excerpts',
    'on',
    "on or off: keep the first 1 KiB of a branch's last answer, to be shown",
    oneOf('on', 'off'),
  ),
  connectionsPerOriginMax: bound(
    'connections-per-origin-max',
    DEFAULT_CALLER_LIMITS.connectionsPerOriginMax,
    'connections to one origin at once',
    65_535,
  ),
  queuedPerOriginMax: bound(
    'queued-per-origin-max',
    DEFAULT_CALLER_LIMITS.queuedPerOriginMax,
    'calls that wait for one of them at once',
    10_000_000,
  ),
  originsMax: bound(
    'origins-max',
    DEFAULT_CALLER_LIMITS.originsMax,
    'origins with connections at once',
    100_000,
  ),
  connectTimeoutMs: bound(
    'connect-timeout-ms',
    DEFAULT_CALLER_LIMITS.connectTimeoutMs,
    'limit of one TCP and TLS connect',
    HOUR_MS,
  ),
  keepAliveMs: bound(
    'keep-alive-ms',
    DEFAULT_CALLER_LIMITS.keepAliveMs,
    'how long an idle connection to a branch is kept',
    HOUR_MS,
  ),
  connectionAgeMsMax: bound(
    'connection-age-ms-max',
    DEFAULT_CALLER_LIMITS.connectionAgeMsMax,
    'how old a connection to a branch may be that takes another call; then its name is looked up again',
    24 * HOUR_MS,
  ),
  answerBodyBytesMax: bound(
    'answer-body-bytes-max',
    DEFAULT_CALLER_LIMITS.answerBodyBytesMax,
    'of an answer, what is read',
    64 * MIB,
  ),
  answerHeaderBytesMax: bound(
    'answer-header-bytes-max',
    DEFAULT_CALLER_LIMITS.answerHeaderBytesMax,
    'of its headers, what is taken',
    MIB,
  ),
} as const

function bound(flag: string, fallback: number, help: string, max: number) {
  return setting(flag, fallback, help, wholeNumber(1, max))
}

function proxyUrl(text: string): Parsed<string> {
  const url = URL.parse(text)
  const isProxy =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === '/'
  // The text may hold a password, so it is not repeated.
  return isProxy ? { value: url.href } : { problem: 'must be the URL of a proxy: http://HOST:PORT' }
}
