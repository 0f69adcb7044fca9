/** How many ids of a run are kept; an agent does not return to older ones. */
const MOST = 2000;
const LONGEST_ID = 200;

/** Remembers facts about a run's latest ids: a program can name any number of them, of any length. */
export interface RecentIds<V> {
  get(id: string): V | undefined;
  set(id: string, value: V): void;
  delete(id: string): void;
  /** The older first. */
  values(): V[];
}

/** A copy: a part of a long text would keep all of it in memory. */
export const cutToKeep = (text: string, length = LONGEST_ID): string =>
  text.length === 0 ? '' : Buffer.from(text.slice(0, length)).toString();

export function createRecent<V>(): RecentIds<V> {
  const all = new Map<string, V>();
  return {
    get: (id) => all.get(id.slice(0, LONGEST_ID)),
    set(id, value) {
      const key = cutToKeep(id);
      all.delete(key);
      all.set(key, value);
      if (all.size <= MOST) return;
      const [oldest] = all.keys();
      if (oldest !== undefined) all.delete(oldest);
    },
    delete: (id) => void all.delete(id.slice(0, LONGEST_ID)),
    values: () => [...all.values()],
  };
}
