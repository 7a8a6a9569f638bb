// Runs in a thread of its own: Mermaid wants a window among its globals when it is loaded, and no test file should.
import { parentPort, workerData } from 'node:worker_threads'
import { Window } from 'happy-dom'

const window = new Window()
Object.assign(globalThis, { window, document: window.document })
const { default: mermaid } = await import('mermaid')

const refusals: (string | undefined)[] = []
for (const text of workerData as readonly string[]) {
  const refusal = await mermaid.parse(text).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  refusals.push(refusal)
}
parentPort?.postMessage(refusals)
await window.happyDOM.close()
