/** Prints what a fault test tried and what was lost. A test reaches this line only if nothing was lost. */
export function report(tried: string, found: string): void {
  console.log(`tried: ${tried}\n found: ${found}`);
}
