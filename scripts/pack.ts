// `npm run pack`: writes the packages that users install, and prints their paths, each after those that it needs.
// `-- --into DIR` says where, default: dist of the repository; `--only NAME`, again and again: not all of them.
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packPackages } from './pack/pack-packages.ts'
import { publications } from './pack/public-packages.ts'

const ROOT = dirname(import.meta.dirname)

const { values } = parseArgs({
  options: {
    into: { type: 'string', default: join(ROOT, 'dist') },
    only: { type: 'string', multiple: true },
  },
})
const all = publications(ROOT)
for (const name of values.only ?? []) {
  if (!all.some((each) => each.name === name)) throw new Error(`there is no public package ${name}`)
}
const wanted = all.filter(({ name }) => values.only?.includes(name) ?? true)
const into = resolve(values.into)
for (const { tarball } of packPackages(ROOT, wanted, into)) process.stdout.write(`${tarball}\n`)
// The hint goes to standard error, beside the paths, which a script may read.
if (values.only === undefined) {
  process.stderr.write(
    `All of them together, since they need each other: npm install ${join(into, '*.tgz')}\n`,
  )
}
