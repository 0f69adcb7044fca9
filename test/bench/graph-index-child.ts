import { createIndexer } from '../../engine/knowledge/symbols/index-files/indexer.ts';

// Indexes a tree in a process of its own, so that its memory can be measured.
const [root = '', file = ''] = process.argv.slice(2);
const indexer = createIndexer({ root, file, env: process.env, parsers: {}, without: [] });
const { ms } = await indexer.refresh();
const edges = indexer.db.prepare('SELECT count(*) FROM edge').pluck().get();
await indexer.close();
process.stdout.write(JSON.stringify({ ms, edges, peakMb: process.resourceUsage().maxRSS / 1024 }));
