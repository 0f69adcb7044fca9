export { nearWords } from './near-words.ts';
export { quoteForMatch, readQuery } from './query.ts';
export { foldText, indexText, listKeys } from './terms.ts';
