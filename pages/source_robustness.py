import streamlit as st
from ui import page, data_choice
page.lead("x")
st.write(data_choice.dataset().n_samples)
