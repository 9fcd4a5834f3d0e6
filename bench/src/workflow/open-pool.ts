import { Pool } from 'pg'

/** Each program that changes accounts has so many connections to their database. */
export const CONNECTIONS_MAX = 20

/** Opens the database of a service, whose URL is in SERVICES_DATABASE. */
export function openPool(): Pool {
  const { SERVICES_DATABASE: connectionString = '' } = process.env
  // No connection is closed for idleness between two rounds.
  return new Pool({ connectionString, max: CONNECTIONS_MAX, idleTimeoutMillis: 0 })
}
