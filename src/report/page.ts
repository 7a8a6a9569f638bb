// Owns a report as one self-contained page: it loads nothing, and runs no script but its own.
import { version } from '../core/version.ts'
import type { Block } from './blocks.ts'
import { htmlText } from './escape.ts'
import { renderHtml } from './html.ts'
import { pageScript, pageScriptHash, pageStyle } from './page-assets.ts'

export function renderPage(title: string, blocks: readonly Block[]): string {
  const { html, charts } = renderHtml(blocks)
  // Not even a mistake of ours could load or send anything. uPlot sets styles on its elements, hence 'unsafe-inline' for those.
  const policy = `default-src 'none'; script-src 'sha256-${pageScriptHash}'; style-src 'unsafe-inline'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${htmlText(title)} · Watchkeeper</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
${html}
</main>
<footer>Made by Watchkeeper ${version}. Days are UTC days.</footer>
<script type="application/json" id="charts">${scriptJson(charts)}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

/** JSON that no HTML parser can take for an end of its element. */
const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
