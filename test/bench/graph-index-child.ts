import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { GRAPH_THREAD_LIMITS } from '../../engine/knowledge/symbols/index.ts';
import { createIndexer } from '../../engine/knowledge/symbols/index-files/indexer.ts';
import { openTestGit } from '../support/workspaces/git.ts';

// Indexes a tree in a separate process, so that its memory can be measured, and in a thread like the engine's.
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), {
    resourceLimits: GRAPH_THREAD_LIMITS,
    workerData: process.argv.slice(2),
  });
  worker.on('message', (measured: object) => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const cpuMs = (userCPUTime + systemCPUTime) / 1000;
    process.stdout.write(JSON.stringify({ ...measured, cpuMs, peakMb: maxRSS / 1024 }));
  });
} else {
  const [root, file] = workerData as [string, string];
  const indexer = createIndexer({ root, file, git: openTestGit(process.env), parsers: {}, without: [] });
  const { ms } = await indexer.refresh();
  const edges = indexer.db.prepare('SELECT count(*) FROM edge').pluck().get();
  await indexer.close();
  parentPort!.postMessage({ ms, edges });
}
