import { describe, inject, it } from 'vitest'

/** As describeOn, until the harness knows the kind `postgres`; then it is `describeOn('postgres', …)`. */
export function describeOnPostgres(title: string, define: (url: string) => void): void {
  const offers = inject('testServers') as Readonly<Record<string, { readonly shared: object } | undefined>>
  const shared = offers.postgres?.shared
  if (shared !== undefined && 'url' in shared) {
    const { url } = shared
    describe(`${title} (postgres)`, () => define(String(url)))
    return
  }
  describe(`${title} (postgres)`, () => {
    it('has its server', (context) => context.skip('the test harness starts no PostgreSQL yet'))
  })
}
