import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { chooseTls, parseServerUrl, type TlsChoice } from '@counterstep/store-sql'

const KEEP_ALIVE_MS = 10_000
const URL_RULES = { protocols: ['postgres:', 'postgresql:'], defaultPort: 5432 }

/** The options of the driver that say where the server is and who asks. */
export interface ConnectionTarget {
  host: string
  port: number
  user: string
  password: string
  database: string
  ssl: false | ConnectionOptions
  application_name: string
  keepAlive: boolean
  keepAliveInitialDelayMillis: number
}

/** Reads the driver's options from the URL. Throws a `TypeError`, which never shows the URL, since that holds the password. */
export function toConnectionTarget(url: string, tls: TlsChoice | undefined): ConnectionTarget {
  const { host, port, user, password, database } = parseServerUrl(url, URL_RULES)
  const secured = chooseTls(host, tls)
  return {
    // The driver would look into the environment for what is missing here.
    ...{ host, port, user: user || 'postgres', password, database },
    ssl: secured !== undefined && {
      ...{ servername: secured.serverName, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
      // The driver puts the URL's host in the place of the name, unless that is an address.
      checkServerIdentity: (_host, certificate) => checkServerIdentity(secured.serverName, certificate),
      ...(secured.ca && { ca: secured.ca }),
    },
    application_name: 'counterstep',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
}
