import type { Parsed } from './setting.ts'

/** As CloudWatch takes it; what starts with AWS/ is Amazon's own. */
export function metricsNamespace(text: string): Parsed<string> {
  return /^[\w.#/:-]{1,255}$/.test(text) && !text.startsWith('AWS/')
    ? { value: text }
    : { problem: 'must be 1 to 255 letters, digits, _, ., #, /, : and -, and must not start with AWS/' }
}
