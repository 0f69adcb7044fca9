import { countLines } from './chunks.ts';
import type { CrushedText } from './crush/index.ts';
import type { StoredTexts, TextOwner } from './index.ts';
import type { NewText } from './store.ts';

/** Stores a text with its file on disk: a row never names a missing file. */
export async function placeText(
  texts: StoredTexts,
  whole: string,
): Promise<Pick<NewText, 'hash' | 'bytes' | 'lines'>> {
  const { files } = await texts.open();
  const { hashBytes } = await import('./text-files.ts');
  const bytes = Buffer.from(whole);
  const hash = hashBytes(bytes);
  files.write(hash, bytes, whole);
  return { hash, bytes: bytes.length, lines: countLines(whole) };
}

/** Runs a function that keeps a text; a file that is not needed in the end is removed. */
export async function keepPlaced<T>(
  texts: StoredTexts,
  { hash }: Pick<NewText, 'hash'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { files, store } = await texts.open();
    if (!store.isKept(hash)) files.remove(hash);
    throw error;
  }
}

/** The rest of a text, and the id of the whole text; null if nothing was omitted or nothing is stored. */
export interface CrushedAndStored {
  id: string | null;
  crushed: CrushedText;
}

/** Crushes a text, and stores the whole text if something was omitted. `counted` runs with the change to the database. */
export async function crushAndStore(
  texts: StoredTexts,
  whole: string,
  {
    caller,
    exitCode = null,
    write,
    counted,
  }: {
    caller: TextOwner;
    /** The exit code according to the caller. */
    exitCode?: number | null;
    write<T>(work: () => T): Promise<T>;
    counted(crushed: CrushedText): void;
  },
): Promise<CrushedAndStored> {
  const { store } = await texts.open();
  const [{ crush }, { explainRetrieval, findExitCode }, { hashBytes }] = await Promise.all([
    import('./crush/index.ts'),
    import('./stub.ts'),
    import('./text-files.ts'),
  ]);
  const isStored = texts.settings().stores;
  const named = (id: string) =>
    crush(whole, { whole: isStored ? explainRetrieval(id) : 'run the command again' });
  const id = store.nameText(hashBytes(Buffer.from(whole)));
  const crushed = named(id);
  if (!isStored || crushed.omissions.length === 0) {
    await write(() => counted(crushed));
    return { id: null, crushed };
  }
  const placed = await placeText(texts, whole);
  const { kind } = crushed;
  const kept = await keepPlaced(texts, placed, () =>
    write(() => {
      counted(crushed);
      const found = findExitCode(whole);
      return store.keep({ ...placed, kind, told: exitCode, found }, texts.holderOf(caller)).id;
    }),
  );
  // Another text with the same hash prefix may have come first.
  return { id: kept, crushed: kept === id ? crushed : named(kept) };
}
