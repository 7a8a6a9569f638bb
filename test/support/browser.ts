import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// Finds the Chromium of this machine; nothing is downloaded.

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/microsoft-edge',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Throws when there is none: a test that did not run must not look as if it had passed. */
export function openBrowser(): Promise<Browser> {
  const { CHROME_PATH: wanted } = process.env
  const executablePath = wanted || usualPlaces.find((path) => existsSync(path))
  if (executablePath === undefined || !existsSync(executablePath)) {
    throw new Error(
      `no browser at ${wanted || usualPlaces.join(', ')}: install Chromium (apt-get install chromium fonts-noto-color-emoji), or set CHROME_PATH to one`,
    )
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}
