/** Lets a repeated call wait for the first one while that is in progress, by a key. */
export function createSharedCalls() {
  const open = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const first = open.get(key) as Promise<T> | undefined;
    if (first !== undefined) return first;
    const call = work().finally(() => open.delete(key));
    open.set(key, call);
    return call;
  };
}
