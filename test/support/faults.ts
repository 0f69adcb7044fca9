/** Each fault test ends by saying what it tried and what was lost (05): the line is only reached when nothing was. */
export function report(tried: string, found: string): void {
  console.log(`tried: ${tried}\n found: ${found}`);
}
