/**
 * Makes the pictures of docs/guides/console.md anew: it plays browser tests on real servers, and packs
 * what they photographed as WebP, which the browser itself does.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const ROOT = join(import.meta.dirname, '..')
const TAKEN = join(ROOT, '.tmp', 'screenshots')
const PICTURES = join(ROOT, 'docs', 'guides', 'pictures')
const QUALITY = 0.8
const MARGIN_PX = 24

/** The picture's name in the guide, and the name under which a test takes it. */
const NAMES = {
  'console-undone': 'job-a-undone',
  'console-playground': 'job-a-playground',
  'console-problems': 'job-operator-problems',
  'console-bulk': 'job-operator-bulk-running',
  'console-edit': 'job-b-edit',
  'console-overview': 'job-c-overview',
  'console-workflow': 'workflow',
} as const

const TESTS = ['testing/browser/job-', 'testing/browser/workflow']
execFileSync('npm', ['exec', '--', 'vitest', 'run', '--project', 'browser', ...TESTS], {
  cwd: ROOT,
  stdio: 'inherit',
})
await mkdir(PICTURES, { recursive: true })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium' })
const page = await browser.newPage()
for (const [name, taken] of Object.entries(NAMES)) {
  const png = (await readFile(join(TAKEN, `${taken}.png`))).toString('base64')
  const webp = (await page.evaluate(toWebp(png))) as string
  const bytes = Buffer.from(webp.slice(webp.indexOf(',') + 1), 'base64')
  await writeFile(join(PICTURES, `${name}.webp`), bytes)
  process.stdout.write(`${name}: ${Math.round(bytes.length / 1024)} KB\n`)
}
await browser.close()

/** Returns a program for the page. It draws the picture and reads it back as WebP. */
function toWebp(png: string): string {
  return `(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, image.width, image.height)
    const pixels = new Uint32Array(data.buffer)
    const last = pixels.findLastIndex((pixel) => pixel !== pixels.at(-1))
    // The empty rest of the page below its content is no part of the picture.
    canvas.height = Math.min(image.height, Math.ceil(last / image.width) + ${MARGIN_PX})
    context.drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${QUALITY})
  })()`
}
