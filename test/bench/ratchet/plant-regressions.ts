import { registerHooks } from 'node:module';

// Preloaded by a test: changes modules while they load, so that the product is slower in ways that a guard must see.

interface Plant {
  /** The end of the module's address. */
  module: string;
  before: string;
  after: string;
}

const PLANTS: readonly Plant[] = [
  // task_list looks for every known agent on PATH, as it once did.
  {
    module: '/engine/workers/agents/registry.js',
    before: 'listProjectIds: () => readConfig()',
    after: 'listProjectIds: () => (listInstalled(), readConfig())',
  },
  // verify_status starts git.
  {
    module: '/engine/board/verify/tools.js',
    before: 'return toWire(await verify.of(whose));',
    after: `process.getBuiltinModule('node:child_process').execFileSync('git', ['--version']);
      return toWire(await verify.of(whose));`,
  },
  // msg_inbox runs a statement for each of its messages.
  {
    module: '/engine/bus/messages/inboxes.js',
    before: 'return { rows, unread:',
    after: 'for (const _ of rows) countOf(unreadCount);\nreturn { rows, unread:',
  },
  // POST /task writes twice.
  {
    module: '/engine/receiver/once.js',
    before: 'return batch;',
    after: `await storage.write(() => void db.prepare("INSERT INTO meta VALUES (hex(randomblob(8)), '')").run());
      return batch;`,
  },
];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const plant = PLANTS.find(({ module }) => url.endsWith(module));
    if (plant === undefined) return loaded;
    const source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
    if (!source.includes(plant.before)) throw new Error(`${plant.module} lacks: ${plant.before}`);
    return { ...loaded, source: source.replace(plant.before, plant.after) };
  },
});
