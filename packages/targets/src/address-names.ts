/**
 * Public name servers that answer `10-0-0-1.SUFFIX`, and most of them `10-0-0-1.anything.SUFFIX` too, with the address in the
 * name. Below these anybody writes a name that leads into the network of this server, without registering any.
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
]

export function resolvesToAnyAddress(hostname: string): boolean {
  return SUFFIXES.some((suffix) => hostname === suffix || hostname.endsWith(`.${suffix}`))
}
