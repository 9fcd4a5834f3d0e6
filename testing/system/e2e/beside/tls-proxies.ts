import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeptProcess, keptFolder, startKept } from '@counterstep/test-servers'
import type { Certificate } from '@counterstep/test-servers/certificate'

const PROXIES = join(import.meta.dirname, '..', '..', '..', '..', 'infra', 'proxy')

interface ProxyOptions {
  /** The path of the program. */
  readonly program: string
  readonly port: number
  /** The port of the server behind it, on 127.0.0.1. */
  readonly serverPort: number
  readonly certificate: Certificate
}

/**
 * Starts nginx with infra/proxy/nginx.conf, in which only the port, the certificate, the server's port, the own networks and
 * the bound of all strangers are others: 127.0.0.1 alone is no stranger, and strangers have 110 requests at a time.
 */
export async function startNginx(options: ProxyOptions): Promise<KeptProcess> {
  const { program, port, serverPort, certificate } = options
  const folder = await keptFolder('nginx')
  const files = writeCertificate(folder, certificate)
  const site = replaceEach(readFileSync(join(PROXIES, 'nginx.conf'), 'utf8'), [
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ['127.0.0.1:8470', `127.0.0.1:${serverPort}`],
    ['127.0.0.0/8 ""', '127.0.0.1/32 ""'],
    ['counterstep_strangers 10000', 'counterstep_strangers 110'],
    ['/etc/nginx/tls/saga.example.com.pem', files.cert],
    ['/etc/nginx/tls/saga.example.com.key', files.key],
  ])
  writeFileSync(join(folder, 'site.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${join(folder, name)};`,
  )
  const main = [
    ...['daemon off;', `pid ${join(folder, 'pid')};`, 'error_log stderr;'],
    // Run by root, it would choose a user of its own, who could not read the certificate.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    ...['events {}', 'http {', '  access_log off;', ...temporary],
    ...[`  include ${join(folder, 'site.conf')};`, '}', ''],
  ]
  writeFileSync(join(folder, 'nginx.conf'), main.join('\n'))
  const args = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]
  return startKept(program, args, join(folder, 'log'))
}

/** Starts Caddy with infra/proxy/Caddyfile, likewise. The certificate is given, since none can be asked for here. */
export async function startCaddy(options: ProxyOptions): Promise<KeptProcess> {
  const { program, port, serverPort, certificate } = options
  const folder = await keptFolder('caddy')
  const files = writeCertificate(folder, certificate)
  const site = replaceEach(readFileSync(join(PROXIES, 'Caddyfile'), 'utf8'), [
    ['saga.example.com {', `https://127.0.0.1:${port} {\n\ttls ${files.cert} ${files.key}`],
    ['127.0.0.1:8470', `127.0.0.1:${serverPort}`],
  ])
  const file = join(folder, 'Caddyfile')
  // It would listen at port 80 as well, and for its own commands at 2019.
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  const own = ['XDG_DATA_HOME', 'XDG_CONFIG_HOME'].map((name) => `${name}=${folder}`)
  const args = [...own, program, 'run', '--config', file, '--adapter', 'caddyfile']
  return startKept('env', args, join(folder, 'log'))
}

function writeCertificate(folder: string, { cert, key }: Certificate) {
  const tls = join(folder, 'tls')
  mkdirSync(tls)
  const files = { cert: join(tls, 'cert.pem'), key: join(tls, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  return files
}

function replaceEach(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the configuration has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}
