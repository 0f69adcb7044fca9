/** Creates a queue whose `shift` costs the same at any length. */
export function createFifo<T extends object>() {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (item: T): void => void items.push(item),
    first: (): T | undefined => items[head],
    shift(): T | undefined {
      const item = items[head];
      if (item === undefined) return undefined;
      items[head] = undefined;
      head += 1;
      if (head === items.length || (head > 1024 && head * 2 > items.length)) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
