/**
 * Name servers of these suffixes answer `10-0-0-1.SUFFIX`, and most of them `10-0-0-1.anything.SUFFIX` too, with the
 * address in the name. A caller can so write a name that leads into the network of this server without registering it. All
 * are public but the last: a cluster's CoreDNS mostly answers so for its pods, whether there is one at that address or not.
 */
const SUFFIXES: readonly string[] = [
  'nip.io',
  'sslip.io',
  'xip.io',
  'traefik.me',
  'backname.io',
  'plex.direct',
  'local-ip.co',
  'local-ip.sh',
  '1u.ms',
  'rbndr.us',
  'pod.cluster.local',
]

export function resolvesToAnyAddress(hostname: string): boolean {
  return SUFFIXES.some((suffix) => hostname === suffix || hostname.endsWith(`.${suffix}`))
}
