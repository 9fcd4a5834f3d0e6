/**
 * Makes the text that is signed (RFC 9421, 2.5): a line for each component, then the parameters as they stand in
 * Signature-Input behind the label. No value may contain a line break, or one component could pass for two.
 */
export function buildSignatureBase(
  components: readonly (readonly [name: string, value: string])[],
  parameters: string,
): string {
  let base = ''
  for (const [name, value] of components) base += `"${name}": ${value}\n`
  return `${base}"@signature-params": ${parameters}`
}
