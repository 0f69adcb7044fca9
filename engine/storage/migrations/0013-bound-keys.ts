/** A key of a person that ends with a process: its pid and start time. Both null for a key that is valid until removed. */
export const boundKeys = `
ALTER TABLE person_key ADD COLUMN pid INTEGER;
ALTER TABLE person_key ADD COLUMN pid_start TEXT;
`;
