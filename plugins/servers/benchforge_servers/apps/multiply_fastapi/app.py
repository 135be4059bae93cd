"""Twice a number, of study RA, with FastAPI."""

from fastapi import FastAPI

app = FastAPI()


@app.get("/multiply")
async def multiply(number: int):
    return {"result": 2 * number}
