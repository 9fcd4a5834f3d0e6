import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readComposeFile, type Service } from './compose-file.ts'
import { REPOSITORY } from './source-tree.ts'

const INFRA = join(REPOSITORY, 'infra')

// That Docker Compose takes it is a part of its own: `npm run image:check`. This needs neither Go nor root.
describe('the compose file', () => {
  const compose = readComposeFile()
  const services = Object.entries(compose.services)
  const pairs = (of: (service: Service) => readonly string[] | undefined) =>
    services.flatMap(([name, service]) => (of(service) ?? []).map((item) => `${name}: ${item}`))

  it('The compose file names services, volumes, networks and secrets that it has', () => {
    const named = (set: object, of: (service: Service) => readonly string[]) =>
      services.flatMap(([, service]) => of(service)).filter((name) => !(name in set))
    expect(named(compose.services, ({ depends_on = {} }) => Object.keys(depends_on))).toEqual([])
    expect(named(compose.networks, ({ networks = [] }) => networks)).toEqual([])
    expect(named(compose.secrets, ({ secrets = [] }) => secrets)).toEqual([])
    const sources = ({ volumes = [] }: Service) => volumes.map((volume) => volume.split(':')[0] ?? '')
    const [files, volumes] = [(name: string) => name.startsWith('.'), (name: string) => !name.startsWith('.')]
    expect(named(compose.volumes, (service) => sources(service).filter(volumes))).toEqual([])
    const missing = services.flatMap(([, service]) => sources(service).filter(files))
    expect(missing.filter((path) => !existsSync(join(INFRA, path)))).toEqual([])
  })

  it('Each secret of the compose file has a default, which says that it is for development', () => {
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      const path = file.replace(/^\$\{COUNTERSTEP_SECRETS:-(.*)\}/, '$1')
      expect(readFileSync(join(INFRA, path), 'utf8'), name).toMatch(/^dev-only-[a-z-]+\n$/)
    }
  })

  it('The compose file builds targets that the Dockerfile has', () => {
    const targets = services.flatMap(([, { build }]) => build ?? [])
    expect(targets.length).toBeGreaterThan(0)
    for (const { dockerfile, target } of targets) {
      expect(readFileSync(join(REPOSITORY, dockerfile), 'utf8')).toMatch(
        new RegExp(`^FROM .* AS ${target}$`, 'm'),
      )
    }
  })

  it('The compose file publishes no port beyond loopback', () => {
    expect(pairs(({ ports }) => ports).filter((port) => !port.includes(': 127.0.0.1:'))).toEqual([])
  })

  it('The compose file pins each image by a tag, and by a digest once a release has written it', () => {
    const images = pairs(({ image }) => [image])
    expect(
      images.filter(
        (image) =>
          !/^[\w-]+: [\w/.-]+:(v?\d[\w.-]*(@sha256:[0-9a-f]{64})?|\$\{COUNTERSTEP_VERSION:-dev\})$/.test(
            image,
          ),
      ),
    ).toEqual([])
  })
})
