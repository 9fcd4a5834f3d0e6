import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'
import { CONSOLE_FOLDER } from './console-folder.ts'

/**
 * The settings of both the development server and the build. All addresses in the built files are relative, so that they
 * work behind any prefix; nothing is inlined, because the content security policy allows no inline script or style.
 */
export function createViteConfig(outDir: string): InlineConfig {
  return {
    root: CONSOLE_FOLDER,
    base: './',
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir,
      emptyOutDir: true,
      target: ['chrome123', 'firefox120', 'safari17.5'],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      sourcemap: false,
      reportCompressedSize: false,
    },
  }
}
