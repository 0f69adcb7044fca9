import type { ForwardedReader, ForwardedText } from '../../gateway/index.ts';
import type { Storage } from '../../storage/index.ts';
import type { TextStore } from './store.ts';
import type { createTextFiles } from './text-files.ts';

/** The last text of the gateway that was stored here. */
const SEEN = 'context_forwarded_seen';
const AT_A_TIME = 20;

/** Creates the storing of texts that the gateway omitted. */
export function createForwardedImport({
  storage,
  forwarded,
  log,
  openTexts,
}: {
  storage: Storage;
  forwarded: Pick<ForwardedReader, 'listAfter'>;
  log: { warn(facts: object, text: string): void };
  openTexts(): Promise<{ files: ReturnType<typeof createTextFiles>; store: Pick<TextStore, 'keep'> }>;
}) {
  const readSeen = storage.db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const setSeen = storage.db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );

  async function keepForwarded({ number, text, hash, kind, holder }: ForwardedText): Promise<void> {
    const { files, store } = await openTexts();
    const [{ countLines }, { findExitCode }] = await Promise.all([
      import('./chunks.ts'),
      import('./stub.ts'),
    ]);
    const bytes = Buffer.from(text);
    files.write(hash, bytes, text);
    const lines = countLines(text);
    const found = findExitCode(text);
    await storage.write(() => {
      store.keep({ hash, bytes: bytes.length, lines, kind, told: null, found }, holder);
      if (number > Number(readSeen.get(SEEN)?.value ?? 0)) setSeen.run(SEEN, String(number));
    });
  }

  /** Stores the texts that the gateway omitted since the last call. Unreadable ones are retried. */
  async function importForwarded(): Promise<void> {
    try {
      for (let found = true; found; ) {
        const texts = forwarded.listAfter(Number(readSeen.get(SEEN)?.value ?? 0), AT_A_TIME);
        for (const text of texts) await keepForwarded(text);
        found = texts.length > 0;
      }
    } catch (error) {
      log.warn({ error }, 'text omitted by the gateway was not stored');
    }
  }

  return { keepForwarded, importForwarded };
}
