import { defineConfig } from 'vitest/config'

const timeouts = { testTimeout: 30_000, hookTimeout: 60_000 }
const exclude = ['**/node_modules/**', '**/dist/**']

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'repository', include: ['test/*.test.ts'], exclude, ...timeouts } },
      {
        test: {
          name: 'packages',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'sdk/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'bench/test/**/*.test.ts',
            'test/*/**/*.test.ts',
          ],
          exclude,
          ...timeouts,
        },
      },
    ],
  },
})
