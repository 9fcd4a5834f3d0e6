const NEEDED = 'Node 22.19+, 24.11+ or 26+'

/** Says why the program does not run on this version of Node. Returns undefined if it does, as `engines` says. */
export function findNodeFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const isFit = (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major >= 26
  return isFit ? undefined : `counterstep needs ${NEEDED}; this is ${version}`
}
