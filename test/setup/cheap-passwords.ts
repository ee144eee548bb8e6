/** Tests sign in hundreds of times. src/people/people.test.ts holds what a real hash costs. */
export const cheapPasswords = { memoryCost: 8, timeCost: 1 };
