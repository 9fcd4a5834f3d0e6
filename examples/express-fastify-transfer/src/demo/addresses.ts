/** The addresses that the demo needs. */
export interface Addresses {
  readonly mysqlUrl: string
  readonly postgresUrl: string
  /** The URL of a Counterstep that can reach this machine's loopback. If it is absent, the demo starts one. */
  readonly counterstepUrl?: string
}

/** Throws one Error that names everything that is missing. Empty is missing too. */
export function readAddresses({
  MYSQL_URL: mysqlUrl,
  POSTGRES_URL: postgresUrl,
  COUNTERSTEP_URL: counterstepUrl,
}: NodeJS.ProcessEnv): Addresses {
  if (!mysqlUrl || !postgresUrl) {
    const missing = [
      ...(mysqlUrl ? [] : ['MYSQL_URL, for instance mysql://bank:secret@127.0.0.1/bank']),
      ...(postgresUrl ? [] : ['POSTGRES_URL, for instance postgres://bank:secret@127.0.0.1/bank']),
    ]
    throw new Error(`Set ${missing.join(', and ')}.\nIts tables are made where they are missing.`)
  }
  return { mysqlUrl, postgresUrl, ...(counterstepUrl ? { counterstepUrl } : {}) }
}
