import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SdkProject } from './packed/sdk-project.ts'

const USES: Readonly<Record<string, string>> = {
  '.': 'withBarrier',
  './express': 'branchHandler',
  './fastify': 'branchHandler',
  './fetch': 'fetchHandler',
  './signatures': 'signedCallCheck',
  './grouped': 'groupedBranch',
  './grouped/mysql': 'mysqlGroupBarrier',
  './grouped/postgres': 'postgresGroupBarrier',
  './grouped/sqlite': 'sqliteGroupBarrier',
  './testing': 'assertBranch',
  './barrier/mysql': 'mysqlBarrier',
  './barrier/postgres': 'postgresBarrier',
  './barrier/sqlite': 'sqliteBarrier',
  './barrier/redis': 'redisBarrier',
}

describe('a project that has the packed SDK and nothing else, no @types/node either', () => {
  let project: SdkProject
  beforeAll(async () => {
    project = await SdkProject.create()
  })
  afterAll(() => project?.remove())

  for (const [entry, name] of Object.entries(USES)) {
    it(`A project compiles with ${entry}, strictly, with the library that TypeScript has by default`, async () => {
      const folder = join(project.folder, 'node_modules')
      expect(readdirSync(folder).filter((each) => !each.startsWith('.'))).toEqual(['@counterstep'])
      const id = `@counterstep/sdk${entry.slice(1)}`
      project.write('alone.ts', `import { ${name} } from '${id}'\nexport const used: object = ${name}\n`)
      const compilerOptions = {
        ...{ module: 'nodenext', target: 'es2023', types: [], strict: true },
        ...{ exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
      }
      project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['alone.ts'] }))
      const { code, stdout } = await project.compile()
      expect([code, stdout]).toEqual([0, ''])
    })
  }
})
