// `npm run console`: the console with hot reload, in front of a server that runs elsewhere.
import { createServer } from 'vite'
import { CONSOLE_FOLDER } from './console-folder.ts'
import { createViteConfig } from './vite-config.ts'

const PORT = 8480
const target = process.env.COUNTERSTEP_URL ?? 'http://127.0.0.1:8470'

const server = await createServer({
  ...createViteConfig(`${CONSOLE_FOLDER}/dist/unused`),
  logLevel: 'info',
  server: {
    host: '127.0.0.1',
    port: PORT,
    // The server refuses a request of another origin, so the proxy does not pass the development server's own.
    proxy: { '/v1': { target, changeOrigin: true, headers: { origin: new URL(target).origin } } },
  },
})
await server.listen()
process.stdout.write(`The console of ${target}\n`)
server.printUrls()
