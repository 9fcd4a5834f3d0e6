/** Of RDS Proxy: NAME.proxy-ID.REGION, and of its further endpoints NAME.endpoint.proxy-ID.REGION. */
const RDS_PROXY = /\.proxy-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com(\.cn)?(:\d{1,5})?$/i

/** Whether the address is one of a proxy that lends a connection of the database for one database transaction. */
export function isRdsProxy(host: string): boolean {
  return RDS_PROXY.test(host)
}
