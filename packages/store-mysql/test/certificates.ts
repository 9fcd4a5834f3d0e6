import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Certificates {
  /** PEM, of the authority that has signed the server's. */
  readonly ca: string
  readonly caFile: string
  readonly certificateFile: string
  readonly keyFile: string
  remove(): Promise<void>
}

/** An authority of this test's own and a certificate for a server of this name. */
export async function makeCertificates(serverName: string): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-tls-'))
  const file = (name: string) => join(folder, name)
  const key = ['-newkey', 'rsa:2048', '-nodes']
  await openssl([
    'req',
    '-x509',
    ...key,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
    '-subj',
    '/CN=test authority',
    '-days',
    '2',
  ])
  await openssl([
    'req',
    ...key,
    '-keyout',
    file('server.key'),
    '-out',
    file('server.csr'),
    '-subj',
    `/CN=${serverName}`,
  ])
  await writeFile(file('names'), `subjectAltName=DNS:${serverName}\n`)
  const signed = [
    '-CA',
    file('ca.pem'),
    '-CAkey',
    file('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    file('names'),
  ]
  await openssl(['x509', '-req', '-in', file('server.csr'), '-out', file('server.pem'), ...signed])
  return {
    ca: await readFile(file('ca.pem'), 'utf8'),
    caFile: file('ca.pem'),
    certificateFile: file('server.pem'),
    keyFile: file('server.key'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function openssl(args: readonly string[]): Promise<void> {
  await run('openssl', args)
}
