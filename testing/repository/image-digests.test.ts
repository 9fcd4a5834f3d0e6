import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { digestFault, foreignImages, withDigests, writeDigests } from '../../scripts/release/image-digests.ts'
import { releaseFault } from '../../scripts/release/release-fault.ts'
import { resolveDigest } from '../../scripts/release/resolve-digest.ts'
import { REPOSITORY } from './source-tree.ts'

const FILES = ['infra/Dockerfile', 'infra/compose.yaml']
const TAGS = [
  'node:24-bookworm-slim',
  'mysql:8.4',
  'postgres:18',
  'redis:8',
  'prom/prometheus:v3.5.0',
  'grafana/grafana:12.2.0',
  'jaegertracing/jaeger:2.14.1',
]
const makeDigest = (digit: string) => `sha256:${digit.repeat(64)}`

/** Copies what names images into a repository of its own. */
function copyFiles(): string {
  const root = mkdtempSync(join(tmpdir(), 'counterstep-digests-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'infra'))
  for (const path of FILES) cpSync(join(REPOSITORY, path), join(root, path))
  return root
}

function withoutDigests(root: string): void {
  for (const path of FILES) {
    const text = readFileSync(join(root, path), 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/g, '')
    writeFileSync(join(root, path), text)
  }
}

/** Makes a program docker that prints one text, for a caller that looks it up on the PATH. */
function dockerThatPrints(text: string, status = 0): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-docker-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'docker'),
    `#!/bin/sh\necho "$@" >> '${folder}/asked'\necho '${text}'\nexit ${status}\n`,
  )
  chmodSync(join(folder, 'docker'), 0o755)
  return { PATH: `${folder}:/usr/bin:/bin`, ASKED: join(folder, 'asked') }
}

describe('the images that ours are built from and run beside', () => {
  it('S35: The images are those of the Dockerfile and the compose file, each by a tag, and no others', () => {
    const named = FILES.flatMap((path) => foreignImages(readFileSync(join(REPOSITORY, path), 'utf8')))
    expect(new Set(named.map((name) => name.replace(/@.*/, '')))).toEqual(new Set(TAGS))
  })

  it('S35: Base images enter the Dockerfile by one argument, so that no stage has another base', () => {
    const dockerfile = readFileSync(join(REPOSITORY, 'infra/Dockerfile'), 'utf8')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name)
    expect(new Set(bases)).toEqual(new Set(['$' + '{NODE_IMAGE}', 'runtime']))
  })

  it('S35: Images get the digest that the registry has, each asked for once, and nothing else is changed', () => {
    const root = copyFiles()
    withoutDigests(root)
    const before = FILES.map((path) => readFileSync(join(root, path), 'utf8'))
    const asked: string[] = []
    const written = writeDigests(root, (name) => {
      asked.push(name)
      return makeDigest('a')
    })
    expect(asked).toEqual(TAGS)
    expect(written).toEqual(TAGS.map((name) => `${name}@${makeDigest('a')}`))
    const after = FILES.map((path) => readFileSync(join(root, path), 'utf8'))
    expect(after.map((text) => text.replaceAll(`@${makeDigest('a')}`, ''))).toEqual(before)
    expect(digestFault(root)).toBeUndefined()
    // Asked anew, the tag may have moved.
    writeDigests(root, () => makeDigest('b'))
    expect(FILES.map((path) => readFileSync(join(root, path), 'utf8')).join()).not.toContain(makeDigest('a'))
  })

  it('S35: Both files stay as they were if an image of one cannot be resolved', () => {
    const root = copyFiles()
    const before = FILES.map((path) => readFileSync(join(root, path), 'utf8'))
    const resolve = (name: string) => {
      if (name.startsWith('redis')) throw new Error('no such image')
      return makeDigest('a')
    }
    expect(() => writeDigests(root, resolve)).toThrow('no such image')
    expect(FILES.map((path) => readFileSync(join(root, path), 'utf8'))).toEqual(before)
  })

  it('S35: Images are found in every place of a Dockerfile and a compose file, but for its own stages', () => {
    const text = [
      ...[
        'ARG BASE_IMAGE=debian:12',
        'FROM debian:12-slim AS one',
        'FROM one AS two',
        'FROM $' + '{BASE_IMAGE}',
      ],
      ...['FROM scratch', '    image: redis:8 # comment', '    image: own:$' + '{VERSION}'],
    ].join('\n')
    expect(foreignImages(text)).toEqual(['debian:12', 'debian:12-slim', 'redis:8'])
    expect(withDigests(text, () => makeDigest('c')).split('\n')).toEqual([
      ...[`ARG BASE_IMAGE=debian:12@${makeDigest('c')}`, `FROM debian:12-slim@${makeDigest('c')} AS one`],
      ...['FROM one AS two', 'FROM $' + '{BASE_IMAGE}', 'FROM scratch'],
      ...[`    image: redis:8@${makeDigest('c')} # comment`, '    image: own:$' + '{VERSION}'],
    ])
  })
})

describe('a release', () => {
  const git = (root: string, ...args: readonly string[]) => {
    const as = ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid']
    const { status, stderr } = spawnSync('git', [...as, ...args], { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
  const commitAs = (root: string, tag: string) => {
    git(root, 'init', '--quiet')
    git(root, 'add', '--all')
    git(root, 'commit', '--quiet', '--message', tag)
    git(root, 'tag', tag)
  }

  it('S35: A release is refused while an image has no digest, or one that is none', () => {
    const root = copyFiles()
    withoutDigests(root)
    commitAs(root, 'v1.0.0')
    expect(releaseFault(root, '1.0.0')).toMatch(
      /^infra\/Dockerfile names node:24-bookworm-slim, .*release:digests/,
    )
    for (const digest of ['sha256:abc', 'latest', `sha512:${'a'.repeat(64)}`]) {
      const wrong = copyFiles()
      writeDigests(wrong, () => digest)
      expect([digest, digestFault(wrong)]).toEqual([digest, expect.stringContaining('without a digest')])
    }
  })

  it('S35: A release is not refused for its images when all have a digest', () => {
    const root = copyFiles()
    writeDigests(root, () => makeDigest('d'))
    commitAs(root, 'v1.0.0')
    expect(releaseFault(root, '1.0.0')).toBeUndefined()
    expect(releaseFault(root, '1.0.1')).toContain('not tagged')
  })

  it('S35: A release looks for its faults before it packs', () => {
    const program = readFileSync(join(REPOSITORY, 'scripts/release.ts'), 'utf8')
    expect(program.indexOf('releaseFault(ROOT, version)')).toBeGreaterThan(0)
    expect(program.indexOf('releaseFault(ROOT, version)')).toBeLessThan(program.indexOf('packPackages(ROOT'))
  })
})

describe('the digest of a tag', () => {
  it('S35: The digest of a tag is what docker says of it, asked without a shell', () => {
    const environment = dockerThatPrints(`"${makeDigest('e')}"`)
    expect(resolveDigest('node:24;id', environment)).toBe(makeDigest('e'))
    const asked = readFileSync(environment.ASKED ?? '', 'utf8')
    expect(asked).toBe('buildx imagetools inspect node:24;id --format {{json .Manifest.Digest}}\n')
  })

  it.each([
    ['nothing', makeDocker('')],
    ['another text', makeDocker('Name: docker.io/library/node:24')],
    ['a digest that is too short', makeDocker('"sha256:abc"')],
    ['a failure', makeDocker(`"${makeDigest('e')}"`, 1)],
  ])('S35: A tag has no digest when docker gives %s', (_what, environment) => {
    expect(() => resolveDigest('node:24', environment())).toThrow(
      /^docker (gave no digest of|could not resolve) node:24/,
    )
  })

  it('S35: A tag has no digest where there is no docker', () => {
    expect(() => resolveDigest('node:24', { PATH: '/nonexistent' })).toThrow('docker could not be asked')
  })
})

function makeDocker(text: string, status = 0): () => NodeJS.ProcessEnv {
  return () => dockerThatPrints(text, status)
}
